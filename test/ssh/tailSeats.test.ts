// A server that refuses channels is asked again, but more and more seldom.
import assert from "node:assert/strict";
import { test } from "node:test";
import { TailSeats } from "../../src/ssh/tailSeats";
import { HandClock } from "../unit/handClock";

const minute = 60_000;

test("after a refusal no channel is tried for a minute, then for two, four, and a quarter of an hour at most", async () => {
  const clock = new HandClock();
  const seats = new TailSeats(clock);
  for (const minutes of [1, 2, 4, 8, 15, 15]) {
    // Several logs are refused in one moment.
    for (let n = 0; n < 3; n++) seats.bar();
    await clock.pass(minutes * minute - 1);
    assert.equal(seats.take(), undefined);
    await clock.pass(1);
    const seat = seats.take();
    assert.ok(seat);
    seat.release();
  }
  seats.given();
  seats.bar();
  await clock.pass(minute);
  assert.ok(seats.take());
});
