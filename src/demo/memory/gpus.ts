import type { GpuSample } from "../../core/ports";
import { noise } from "../score";

/** What eight GPUs read at a moment, busy with the server's requests or only holding its weights. */
export function gpuSamples(at: number, busy: boolean): readonly GpuSample[] {
  return Array.from({ length: 8 }, (_, index) => {
    const random = noise(Math.floor(at / 500) * 8 + index);
    return {
      index,
      uuid: `GPU-d3e00000-0000-4000-8000-00000000000${index}`,
      name: "NVIDIA H200 (simulated)",
      at,
      utilisation: busy ? 94 + Math.floor(random() * 6) : 0,
      memoryUsedMib: 134_100 + index * 16 + Math.floor(random() * 12),
      memoryTotalMib: 143_771,
      temperatureC: (busy ? 71 : 42) + Math.floor(random() * 4),
      powerW: Math.round((busy ? 625 + random() * 40 : 118 + random() * 6) * 100) / 100,
      powerLimitW: 700,
    };
  });
}
