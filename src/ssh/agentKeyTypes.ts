import { connect } from "node:net";
import { keyTypeOf } from "./knownHosts";

const answerLimitMs = 5000;
/** An agent's answer is a few keys; a flood is no agent. */
const maxAnswer = 1 << 20;

/**
 * The types of the keys an agent holds, those included that ssh2 passes over (certificates, security keys). Empty where
 * no agent answers. Protocol: draft-miller-ssh-agent, SSH_AGENTC_REQUEST_IDENTITIES (11), answered by 12.
 */
export function agentKeyTypes(socket: string): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const link = connect(socket);
    let answer = Buffer.alloc(0);
    const finish = (types: readonly string[]): void => {
      link.destroy();
      resolve(types);
    };
    link.setTimeout(answerLimitMs, () => {
      finish([]);
    });
    link.on("error", () => {
      finish([]);
    });
    link.on("end", () => {
      finish([]);
    });
    link.on("data", (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      const length = answer.length < 4 ? Infinity : answer.readUInt32BE(0);
      if (answer.length >= 4 + length) finish(keyTypesIn(answer.subarray(4, 4 + length)));
      else if (answer.length > maxAnswer) finish([]);
    });
    link.write(Buffer.from([0, 0, 0, 1, 11]));
  });
}

/** What an answer of an agent lists: a count, then for each key its blob and a comment. Stops where it is cut off. */
export function keyTypesIn(answer: Buffer): readonly string[] {
  if (answer[0] !== 12 || answer.length < 5) return [];
  const types: string[] = [];
  let at = 5;
  for (let left = answer.readUInt32BE(1); left > 0; left--) {
    const blob = stringAt(answer, at);
    const comment = blob === undefined ? undefined : stringAt(answer, at + 4 + blob.length);
    const type = blob === undefined ? undefined : keyTypeOf(blob);
    if (blob === undefined || comment === undefined) break;
    if (type !== undefined) types.push(type);
    at += 8 + blob.length + comment.length;
  }
  return types;
}

function stringAt(bytes: Buffer, at: number): Buffer | undefined {
  if (bytes.length < at + 4) return undefined;
  const end = at + 4 + bytes.readUInt32BE(at);
  return end > bytes.length ? undefined : bytes.subarray(at + 4, end);
}
