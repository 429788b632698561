/** Prints eight GPUs, once or each interval, as the real one does; while it stays open its cost is not counted. */
export const simulatedGpus = `#!/bin/sh
every=
for word; do case $word in -lms) next=1 ;; *) [ "\${next-}" = 1 ] && every=$word; next= ;; esac; done
while :; do
  for gpu in 0 1 2 3 4 5 6 7; do
    printf '%s, GPU-0000000%s, NVIDIA H200 (simulated), 98, 131000, 143771, 71, 640.12, 700.00\\n' $gpu $gpu
  done
  [ -n "$every" ] || exit 0
  sleep "$((every / 1000)).$((every % 1000 / 100))"
done
`;
