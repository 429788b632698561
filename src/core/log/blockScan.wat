;; The inner loop of the search for needles: one pass over a block of a log, four bytes at a time (see needles.ts).
;;
;; Memory, in this order: one bit for each slot; where the list of a slot begins; the block; all lists of places and the
;; needles' bytes, which `needles.ts` writes; the events, which this module writes.
;; An event is one number: where it is in the block, shifted by 16, and which needle begins there; or, with bit 15 set,
;; which byte is there: a control character, or `[`.
(module
  (import "needles" "memory" (memory 1))
  (import "needles" "events" (global $events i32))
  ;; No new word is looked at when so many bytes of events are there.
  (import "needles" "enough" (global $enough i32))
  (global $end (mut i32) (i32.const 0))
  (global $from (mut i32) (i32.const 0))
  (global $begin (mut i32) (i32.const 0))
  (global $fill (mut i32) (i32.const 0))
  (global $whole (mut i32) (i32.const 0))
  (global $closing (mut i32) (i32.const 0))
  (export "end" (global $end))

  (func $emit (param $place i32) (param $code i32)
    (i32.store (global.get $end)
      (i32.or (i32.shl (i32.sub (local.get $place) (i32.const 0x60000)) (i32.const 16)) (local.get $code)))
    (global.set $end (i32.add (global.get $end) (i32.const 4))))

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
          (call $emit (local.get $other) (i32.load (local.get $place))))
        (local.set $place (i32.add (local.get $place) (i32.const 28)))
        (br $next)))
    (i32.const 1))

  ;; A word in which or at which something may be. $flags: a bit for each byte that is a control character or `[`.
  ;; 0 when more bytes are needed to decide, or the events are enough.
  (func $word (param $at i32) (param $slot i32) (param $wanted i32) (param $flags i32) (result i32)
    (local $place i32)
    (if (i32.ge_u (global.get $end) (global.get $enough)) (then (return (i32.const 0))))
    (if (i32.eqz (local.get $flags)) (then (return (call $compare (local.get $slot) (local.get $at) (i32.const 3)))))
    (if (local.get $wanted)
      (then (if (i32.eqz (call $compare (local.get $slot) (local.get $at) (i32.const 1))) (then (return (i32.const 0))))))
    (block $plain
      (loop $next
        (br_if $plain (i32.eqz (local.get $flags)))
        (local.set $place (i32.add (local.get $at) (i32.ctz (local.get $flags))))
        (local.set $flags (i32.and (local.get $flags) (i32.sub (local.get $flags) (i32.const 1))))
        ;; What was looked at before must not end a segment twice.
        (br_if $next (i32.lt_u (local.get $place) (global.get $from)))
        (br_if $plain (i32.ge_u (local.get $place) (global.get $fill)))
        (call $emit (local.get $place) (i32.or (i32.load8_u (local.get $place)) (i32.const 0x8000)))
        (br $next)))
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
  (func (export "scan") (param $begin i32) (param $from i32) (param $fill i32) (param $closing i32) (result i32)
    (local $at i32) (local $bytes v128) (local $slots v128) (local $some i32) (local $flags i32) (local $hits i32)
    (local $shift i32) (local $slot i32)
    (global.set $begin (local.get $begin))
    (global.set $from (local.get $from))
    (global.set $fill (local.get $fill))
    (global.set $whole (i32.sub (i32.and (local.get $fill) (i32.const -4)) (i32.const 0x60000)))
    (global.set $closing (local.get $closing))
    (global.set $end (global.get $events))
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
