import { mkdirSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Logger } from "../../src/core/ports";
import type { SessionDefinition } from "../../src/core/session/definition";
import { parseSessionFile } from "../../src/core/session/sessionFile";
import type { ConnectorOptions } from "../../src/ssh/connect";
import { createConnector } from "../../src/ssh/connector";
import { optionsFor } from "./connection";
import { startRelay, type Relay } from "./relay";
import { startSshd, type Sshd, type SshdOptions } from "./sshd";
import { writeSshConfig } from "./sshConfigFile";
import { openStory, storyId, type StoryWindow } from "./storyWindow";

/** A real sshd as host `gpu8`, behind a link that can be cut. Ends with the test. */
export interface StoryHost {
  readonly sshd: Sshd;
  readonly relay: Relay;
  /** An empty folder for the files of jobs. */
  readonly home: string;
}

export async function startStoryHost(t: TestContext, options: SshdOptions = {}): Promise<StoryHost> {
  const sshd = await startSshd(options);
  const relay = await startRelay(sshd.port);
  t.after(async () => {
    await relay.stop();
    await sshd.stop();
  });
  const home = join(sshd.folder, "home");
  mkdirSync(home);
  return { sshd, relay, home };
}

/** A connected window that knows the host by an alias of a real SSH configuration file. */
export async function windowOn(t: TestContext, host: StoryHost, file: string, logger?: Logger): Promise<StoryWindow> {
  const window = await windowAt(host, file, logger ? { logger } : {});
  t.after(() => {
    window.close();
  });
  return window;
}

/** The same without a test to end with. */
export async function windowAt(
  host: StoryHost,
  file: string,
  more: Partial<ConnectorOptions> = {},
): Promise<StoryWindow> {
  const { sshd, relay, home } = host;
  const connector = createConnector(
    optionsFor(home, { sshConfigFile: writeSshConfig(sshd, "gpu8", relay.port), ...more }),
  );
  const window = openStory(definitionOf(file), connector, more.logger);
  try {
    await window.open.connect(storyId, undefined, true);
    return window;
  } catch (error) {
    window.close();
    throw error;
  }
}

/** The session that a file without problems defines. */
export function definitionOf(text: string): SessionDefinition {
  const { definition, problems } = parseSessionFile(text);
  assert.deepEqual(problems, []);
  assert.ok(definition);
  return definition;
}
