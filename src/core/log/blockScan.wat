;; The inner loop of the search for needles: one pass over a block of a log, four bytes at a time (see needles.ts).
;;
;; Memory, in this order: one bit for each slot; where the list of a slot begins; the block; all lists of places, the
;; needles' bytes and who wants each needle, which `blockScan.ts` writes; the events, which this module writes.
;; An event is one number: where it is in the block, shifted by 16, and which needle begins there; or, with bit 15 set,
;; which control character is there. Lines and states of a line that are passed over are one event together, which
;; stands where the next one begins: lines with bits 15 and 8 and a second number, how many they are; states with bits 15
;; and 9 and a second number, how many they are, shifted by 16, and where the last of them begins.
(module
  (import "needles" "memory" (memory 1))
  (import "needles" "events" (global $events i32))
  ;; No new word is looked at when so many bytes of events are there.
  (import "needles" "enough" (global $enough i32))
  ;; A byte for each needle: bits that say who wants it.
  (import "needles" "kinds" (global $kinds i32))
  ;; The number of the first of three needles that stand for a bracket: a meter's, one behind a share, a tag's.
  (import "needles" "meter" (global $meter i32))
  ;; Of the states of a line: all before this one are kept, and each one whose number the bits of the mask leave zero.
  (import "needles" "firstStates" (global $firstStates i32))
  (import "needles" "stateMask" (global $stateMask i32))
  (global $end (mut i32) (i32.const 0))
  (global $from (mut i32) (i32.const 0))
  (global $begin (mut i32) (i32.const 0))
  (global $fill (mut i32) (i32.const 0))
  (global $whole (mut i32) (i32.const 0))
  (global $closing (mut i32) (i32.const 0))
  ;; Which bits make a segment worth handing over, and which make a state be kept; 0 when nothing may be passed over.
  (global $interest (mut i32) (i32.const 0))
  (global $always (mut i32) (i32.const 0))
  (global $passes (mut i32) (i32.const 0))
  ;; Of the segment that is looked at: its number in the line, where it begins, who wants its needles, whether other control
  ;; characters are in it (1) or its beginning was looked at in another scan (2), and where its events begin.
  (global $segment (mut i32) (i32.const 0))
  (global $start (mut i32) (i32.const 0))
  (global $seen (mut i32) (i32.const 0))
  (global $unsure (mut i32) (i32.const 0))
  (global $first (mut i32) (i32.const 0))
  ;; Where the last event of states passed over ends, and that of lines.
  (global $states (mut i32) (i32.const 0))
  (global $lines (mut i32) (i32.const 0))
  (export "end" (global $end))

  (func $emit (param $place i32) (param $code i32)
    (i32.store (global.get $end)
      (i32.or (i32.shl (i32.sub (local.get $place) (i32.const 0x60000)) (i32.const 16)) (local.get $code)))
    (global.set $end (i32.add (global.get $end) (i32.const 4))))

  (func $see (param $place i32) (param $needle i32)
    (global.set $seen
      (i32.or (global.get $seen) (i32.load8_u (i32.add (global.get $kinds) (local.get $needle)))))
    (call $emit (local.get $place) (local.get $needle)))

  ;; Fences, headings of quotations and two kinds of bars begin so: `beginsOddly` of marks.ts looks closer.
  (func $mayBeOdd (param $place i32) (result i32)
    (local $first i32)
    (if (i32.eq (global.get $start) (local.get $place)) (then (return (i32.const 0))))
    (local.set $first (i32.load8_u (global.get $start)))
    (if (i32.or (i32.eq (local.get $first) (i32.const 32))
          (i32.lt_u (i32.sub (local.get $first) (i32.const 48)) (i32.const 10)))
      (then
        ;; A share has its sign within ten bytes.
        (return
          (i32.and (i32.const 0x3ff)
            (i8x16.bitmask (i8x16.eq (v128.load (global.get $start))
              (v128.const i8x16 37 37 37 37 37 37 37 37 37 37 37 37 37 37 37 37)))))))
    (i32.or
      (i32.or (i32.eq (local.get $first) (i32.const 35)) (i32.eq (local.get $first) (i32.const 45)))
      (i32.or
        (i32.or (i32.eq (local.get $first) (i32.const 61)) (i32.eq (local.get $first) (i32.const 96)))
        (i32.eq (local.get $first) (i32.const 0xef)))))

  ;; Makes the segment that ends at $place part of a run that is one event: the one before it, or a new one that says $more.
  (func $pass (param $place i32) (param $code i32) (param $joins i32) (param $more i32)
    (local $at i32)
    (local.set $at (i32.sub (global.get $first) (i32.shl (local.get $joins) (i32.const 3))))
    (i32.store (local.get $at)
      (i32.or (i32.shl (i32.sub (local.get $place) (i32.const 0x5ffff)) (i32.const 16)) (local.get $code)))
    (i32.store offset=4 (local.get $at) (local.get $more))
    (global.set $end (i32.add (local.get $at) (i32.const 8))))

  ;; 1 when the line that ends at $place was passed over: nobody is interested in it.
  (func $passLine (param $place i32) (result i32)
    (local $joins i32) (local $count i32)
    (if (i32.or (i32.or (global.get $segment) (global.get $unsure)) (i32.eqz (global.get $passes)))
      (then (return (i32.const 0))))
    (if (i32.and (global.get $seen) (global.get $interest)) (then (return (i32.const 0))))
    (if (call $mayBeOdd (local.get $place)) (then (return (i32.const 0))))
    (local.set $count (i32.const 1))
    (if (local.tee $joins (i32.eq (global.get $lines) (global.get $first)))
      (then (local.set $count (i32.add (i32.load (i32.sub (global.get $first) (i32.const 4))) (i32.const 1)))))
    (call $pass (local.get $place) (i32.const 0x8100) (local.get $joins) (local.get $count))
    (global.set $lines (global.get $end))
    (i32.const 1))

  ;; 1 when the state that ends at $place was passed over: it is one of too many of its line, and shows progress at most.
  (func $passState (param $place i32) (result i32)
    (local $joins i32) (local $before i32)
    (if
      (i32.or
        (i32.or (i32.lt_u (global.get $segment) (global.get $firstStates))
          (i32.eqz (i32.and (global.get $segment) (global.get $stateMask))))
        (i32.or (global.get $unsure) (i32.eqz (global.get $passes))))
      (then (return (i32.const 0))))
    (if
      (i32.or (i32.eqz (i32.and (global.get $seen) (global.get $interest)))
        (i32.and (global.get $seen) (global.get $always)))
      (then (return (i32.const 0))))
    (if (local.tee $joins (i32.eq (global.get $states) (global.get $first)))
      (then
        (local.set $before
          (i32.and (i32.load (i32.sub (global.get $first) (i32.const 4))) (i32.const 0xffff0000)))))
    (call $pass (local.get $place) (i32.const 0x8200) (local.get $joins)
      (i32.add (local.get $before) (i32.sub (global.get $start) (i32.const 0x50000))))
    (global.set $states (global.get $end))
    (i32.const 1))

  (func $control (param $place i32) (param $byte i32)
    (block $passed
      (if (i32.eq (local.get $byte) (i32.const 13))
        (then
          (br_if $passed (call $passState (local.get $place))))
        (else
          (if (i32.eq (local.get $byte) (i32.const 10))
            (then (br_if $passed (call $passLine (local.get $place))))
            (else
              (if (i32.ne (local.get $byte) (i32.const 9))
                (then
                  (call $emit (local.get $place) (i32.or (local.get $byte) (i32.const 0x8000)))
                  (global.set $unsure (i32.or (global.get $unsure) (i32.const 1)))))
              (return)))))
      (call $emit (local.get $place) (i32.or (local.get $byte) (i32.const 0x8000))))
    (global.set $segment
      (if (result i32) (i32.eq (local.get $byte) (i32.const 13))
        (then (i32.add (global.get $segment) (i32.const 1)))
        (else (i32.const 0))))
    (global.set $start (i32.add (local.get $place) (i32.const 1)))
    (global.set $seen (i32.const 0))
    (global.set $unsure (i32.const 0))
    (global.set $first (global.get $end)))

  (func $isDigit (param $byte i32) (result i32)
    (i32.lt_u (i32.sub (local.get $byte) (i32.const 48)) (i32.const 10)))

  ;; 1 when a time that a meter could begin with stands there: `00:10<`, `1:02:03,`, `2 days`; -1 when bytes are missing.
  (func $time (param $at i32) (result i32)
    (local $bytes v128) (local $colons i32) (local $length i32)
    (local.set $bytes (v128.load (local.get $at)))
    (local.set $colons
      (i8x16.bitmask
        (i8x16.eq (local.get $bytes) (v128.const i8x16 58 58 58 58 58 58 58 58 58 58 58 58 58 58 58 58))))
    ;; From the first byte on that is neither a digit nor a colon, which comes behind them.
    (local.set $length
      (i32.ctz
        (i32.or (i32.const 0x10000)
          (i8x16.bitmask
            (i8x16.gt_u
              (i8x16.sub (local.get $bytes) (v128.const i8x16 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48))
              (v128.const i8x16 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10 10))))))
    (local.set $colons
      (i32.and (local.get $colons) (i32.sub (i32.shl (i32.const 1) (local.get $length)) (i32.const 1))))
    (local.set $at (i32.add (local.get $at) (local.get $length)))
    (if (i32.eq (local.get $length) (i32.const 16))
      (then (return (i32.sub (i32.const 0) (i32.gt_u (local.get $at) (global.get $fill))))))
    (if (i32.ge_u (local.get $at) (global.get $fill)) (then (return (i32.const -1))))
    (local.set $length (i32.load8_u (local.get $at)))
    (if (i32.eq (local.get $length) (i32.const 32)) (then (return (i32.eqz (local.get $colons)))))
    (i32.and
      (i32.ne (local.get $colons) (i32.const 0))
      (i32.or (i32.eq (local.get $length) (i32.const 60)) (i32.eq (local.get $length) (i32.const 44)))))

  ;; Looks behind a `[`, and one byte before it. 0 when more bytes are needed to decide.
  (func $bracket (param $place i32) (result i32)
    (local $before i32) (local $next i32)
    (if (i32.gt_u (local.get $place) (global.get $start))
      (then (local.set $before (i32.load8_u (i32.sub (local.get $place) (i32.const 1))))))
    (if (i32.eq (local.get $before) (i32.const 37))
      (then (call $see (local.get $place) (i32.add (global.get $meter) (i32.const 1)))))
    (if (i32.ge_u (i32.add (local.get $place) (i32.const 1)) (global.get $fill)) (then (return (global.get $closing))))
    (local.set $next (i32.load8_u offset=1 (local.get $place)))
    (if (i32.or (i32.eq (local.get $next) (i32.const 35)) (i32.eq (local.get $next) (i32.const 68)))
      (then (call $see (local.get $place) (i32.add (global.get $meter) (i32.const 2)))))
    (if (i32.or (i32.ne (local.get $before) (i32.const 32)) (i32.eqz (call $isDigit (local.get $next))))
      (then (return (i32.const 1))))
    (local.set $next (call $time (i32.add (local.get $place) (i32.const 1))))
    (if (i32.lt_s (local.get $next) (i32.const 0)) (then (return (global.get $closing))))
    (if (local.get $next) (then (call $see (local.get $place) (global.get $meter))))
    (i32.const 1))

  ;; The slot of a word: `slotOf` of needles.ts.
  (func $slot (param $word i32) (result i32)
    (i32.shr_u (i32.mul (local.get $word) (i32.const 0x85ebca6b)) (i32.const 12)))

  (func $wanted (param $slot i32) (result i32)
    (i32.and (i32.const 1)
      (i32.shr_u (i32.load8_u (i32.shr_u (local.get $slot) (i32.const 3))) (i32.and (local.get $slot) (i32.const 7)))))

  ;; 1: every byte is there and fits; 0: one does not; -1: those that are there fit.
  (func $match (param $start i32) (param $needle i32) (param $length i32) (result i32)
    (local $stop i32) (local $wanted i32) (local $byte i32)
    (if (i32.lt_u (local.get $start) (global.get $begin)) (then (return (i32.const 0))))
    (local.set $stop (i32.add (local.get $start) (local.get $length)))
    (loop $next
      (if (i32.ge_u (local.get $start) (global.get $fill)) (then (return (i32.const -1))))
      (local.set $wanted (i32.load8_u (local.get $needle)))
      (local.set $byte (i32.load8_u (local.get $start)))
      (if (i32.ne (local.get $wanted) (local.get $byte))
        (then
          ;; 0xff stands for any digit.
          (if (i32.ne (local.get $wanted) (i32.const 255)) (then (return (i32.const 0))))
          (if (i32.ge_u (i32.sub (local.get $byte) (i32.const 48)) (i32.const 10)) (then (return (i32.const 0))))))
      (local.set $needle (i32.add (local.get $needle) (i32.const 1)))
      (local.set $start (i32.add (local.get $start) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $start) (local.get $stop))))
    (i32.const 1))

  ;; Looks for the needles that a word may belong to. $which: bit 0 for those that begin in it or before it, bit 1 for those
  ;; that begin one byte later. 0 when more bytes are needed to decide.
  (func $compare (param $slot i32) (param $at i32) (param $which i32) (result i32)
    (local $place i32) (local $other i32) (local $offset i32) (local $found i32)
    (local.set $place
      (i32.load offset=0x20000 (i32.shl (i32.and (local.get $slot) (i32.const 0xffff)) (i32.const 2))))
    (block $done
      (loop $next
        (br_if $done (i32.lt_s (i32.load (local.get $place)) (i32.const 0)))
        (block $no
          ;; A glance at another word of the needle, if it is there, spares most comparisons.
          (local.set $other (i32.add (local.get $at) (i32.load offset=8 (local.get $place))))
          (if (i32.lt_u (i32.sub (local.get $other) (i32.const 0x60000)) (global.get $whole))
            (then
              (br_if $no
                (i32.ne
                  (i32.and (i32.load (local.get $other)) (i32.load offset=12 (local.get $place)))
                  (i32.load offset=16 (local.get $place))))))
          (local.set $offset (i32.load offset=4 (local.get $place)))
          (br_if $no
            (i32.eqz (i32.and (local.get $which) (i32.add (i32.lt_s (local.get $offset) (i32.const 0)) (i32.const 1)))))
          (local.set $other (i32.sub (local.get $at) (local.get $offset)))
          (local.set $found
            (call $match (local.get $other)
              (i32.load offset=20 (local.get $place)) (i32.load offset=24 (local.get $place))))
          (br_if $no (i32.eqz (local.get $found)))
          (if (i32.lt_s (local.get $found) (i32.const 0))
            (then (br_if $no (global.get $closing)) (return (i32.const 0))))
          (call $see (local.get $other) (i32.load (local.get $place))))
        (local.set $place (i32.add (local.get $place) (i32.const 28)))
        (br $next)))
    (i32.const 1))

  ;; Bytes behind $at that are control characters or `[`, a bit for each. 0 when more bytes are needed to decide what one is.
  (func $bytes (param $at i32) (param $flags i32) (result i32)
    (local $place i32) (local $byte i32)
    (loop $next
      (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $flags))))
      (if (i32.ge_u (local.get $place) (global.get $fill)) (then (return (i32.const 1))))
      ;; What was looked at before must not end a segment twice.
      (if (i32.ge_u (local.get $place) (global.get $from))
        (then
          (local.set $byte (i32.load8_u (local.get $place)))
          (if (i32.eq (local.get $byte) (i32.const 91))
            (then (if (i32.eqz (call $bracket (local.get $place))) (then (return (i32.const 0)))))
            (else (call $control (local.get $place) (local.get $byte))))))
      (br_if $next
        (local.tee $flags (i32.and (local.get $flags) (i32.sub (local.get $flags) (i32.const 1))))))
    (i32.const 1))

  ;; A word in which or at which something may be. $flags: a bit for each byte that is a control character or `[`.
  ;; 0 when more bytes are needed to decide, or the events are enough.
  (func $word (param $at i32) (param $slot i32) (param $wanted i32) (param $flags i32) (result i32)
    (if (i32.ge_u (global.get $end) (global.get $enough)) (then (return (i32.const 0))))
    (if (i32.eqz (local.get $flags)) (then (return (call $compare (local.get $slot) (local.get $at) (i32.const 3)))))
    (if (local.get $wanted)
      (then (if (i32.eqz (call $compare (local.get $slot) (local.get $at) (i32.const 1))) (then (return (i32.const 0))))))
    (if (i32.eqz (call $bytes (local.get $at) (local.get $flags))) (then (return (i32.const 0))))
    (if (i32.eqz (local.get $wanted)) (then (return (i32.const 1))))
    (call $compare (local.get $slot) (local.get $at) (i32.const 2)))

  ;; A bit for each of 16 bytes that is a control character or `[`.
  (func $flags (param $bytes v128) (result i32)
    (i8x16.bitmask
      (v128.or
        (i8x16.lt_u (local.get $bytes) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
        (i8x16.eq (local.get $bytes) (v128.const i8x16 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91)))))

  ;; Looks at the bytes of the block from $from to before $fill; a needle begins at $begin or later. Returns the word to go on
  ;; from: it is before the last one when more bytes are needed to decide, or the events are enough.
  ;; The first segment begins at $begin, as number $segment of its line, unless it began before what is in the block.
  (func (export "scan")
    (param $begin i32) (param $from i32) (param $fill i32) (param $closing i32)
    (param $segment i32) (param $interest i32) (param $always i32) (param $passes i32) (result i32)
    (local $at i32) (local $bytes v128) (local $slots v128) (local $some i32) (local $flags i32) (local $hits i32)
    (local $shift i32) (local $slot i32)
    (global.set $begin (local.get $begin))
    (global.set $from (local.get $from))
    (global.set $fill (local.get $fill))
    (global.set $whole (i32.sub (i32.and (local.get $fill) (i32.const -4)) (i32.const 0x60000)))
    (global.set $closing (local.get $closing))
    (global.set $end (global.get $events))
    (global.set $interest (local.get $interest))
    (global.set $always (local.get $always))
    (global.set $passes (local.get $passes))
    (global.set $segment (local.get $segment))
    (global.set $start (local.get $begin))
    (global.set $seen (i32.const 0))
    (global.set $unsure (i32.shl (i32.ne (local.get $from) (local.get $begin)) (i32.const 1)))
    (global.set $first (global.get $events))
    (global.set $states (i32.const 0))
    (global.set $lines (i32.const 0))
    (local.set $at (i32.and (local.get $from) (i32.const -4)))
    (block $rest
      (loop $next
        (br_if $rest (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $fill)))
        (local.set $bytes (v128.load (local.get $at)))
        (local.set $slots
          (i32x4.shr_u (i32x4.mul (local.get $bytes)
            (v128.const i32x4 0x85ebca6b 0x85ebca6b 0x85ebca6b 0x85ebca6b)) (i32.const 12)))
        (local.set $flags
          (i8x16.bitmask
            (v128.or
              (i8x16.lt_u (local.get $bytes) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
              (i8x16.eq (local.get $bytes) (v128.const i8x16 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91 91)))))
        ;; Four bits for each word: the lowest one when a needle may be at it.
        (local.set $hits
          (i32.or
            (i32.or
              (i32.and (i32.const 1)
                (i32.shr_u (i32.load8_u (i32.shr_u (local.tee $slot (i32x4.extract_lane 0 (local.get $slots))) (i32.const 3))) (i32.and (local.get $slot) (i32.const 7))))
              (i32.shl (i32.and (i32.const 1)
                (i32.shr_u (i32.load8_u (i32.shr_u (local.tee $slot (i32x4.extract_lane 1 (local.get $slots))) (i32.const 3))) (i32.and (local.get $slot) (i32.const 7)))) (i32.const 4)))
            (i32.or
              (i32.shl (i32.and (i32.const 1)
                (i32.shr_u (i32.load8_u (i32.shr_u (local.tee $slot (i32x4.extract_lane 2 (local.get $slots))) (i32.const 3))) (i32.and (local.get $slot) (i32.const 7)))) (i32.const 8))
              (i32.shl (i32.and (i32.const 1)
                (i32.shr_u (i32.load8_u (i32.shr_u (local.tee $slot (i32x4.extract_lane 3 (local.get $slots))) (i32.const 3))) (i32.and (local.get $slot) (i32.const 7)))) (i32.const 12)))))
        (local.set $some (i32.or (local.get $hits) (local.get $flags)))
        (block $dull
          (if (i32.eqz (local.get $hits))
            (then
              (br_if $dull (i32.eqz (local.get $flags)))
              (if (i32.ge_u (global.get $end) (global.get $enough)) (then (return (local.get $at))))
              (br_if $dull (call $bytes (local.get $at) (local.get $flags)))
              (return (local.get $at))))
          (loop $more
            (br_if $dull (i32.eqz (local.get $some)))
            (local.set $shift (i32.and (i32.ctz (local.get $some)) (i32.const 12)))
            (local.set $some (i32.and (local.get $some) (i32.xor (i32.shl (i32.const 15) (local.get $shift)) (i32.const -1))))
            (if
              (i32.eqz
                (call $word
                  (i32.add (local.get $at) (local.get $shift))
                  (call $slot (i32.load (i32.add (local.get $at) (local.get $shift))))
                  (i32.and (i32.shr_u (local.get $hits) (local.get $shift)) (i32.const 1))
                  (i32.and (i32.shr_u (local.get $flags) (local.get $shift)) (i32.const 15))))
              (then (return (i32.add (local.get $at) (local.get $shift)))))
            (br $more)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $next)))
    (loop $last
      (if (i32.ge_u (local.get $at) (local.get $fill)) (then (return (local.get $fill))))
      (local.set $slot (call $slot (i32.load (local.get $at))))
      (if
        (i32.eqz
          (call $word (local.get $at) (local.get $slot) (call $wanted (local.get $slot))
            (i32.and (call $flags (v128.load (local.get $at))) (i32.const 15))))
        (then (return (local.get $at))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br $last))
    (unreachable))
)
