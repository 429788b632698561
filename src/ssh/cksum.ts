/** The polynomial of POSIX `cksum` (IEEE Std 1003.1, "cksum"), most significant bit first. */
const polynomial = 0x04c11db7;

/** What `cksum` prints for these bytes on standard input: the CRC with the length folded in, a blank, the length. */
export function cksum(bytes: Uint8Array): string {
  let crc = 0;
  const feed = (byte: number): void => {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x80000000) === 0 ? crc << 1 : (crc << 1) ^ polynomial;
  };
  for (const byte of bytes) feed(byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) feed(length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}
