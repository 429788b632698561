import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { windowHosts, type EditorWindow } from "../../src/core/editorWindow";
import { parseHostAddress } from "../../src/core/session/hostAddress";

const hex = (value: unknown): string => `ssh-remote+${Buffer.from(JSON.stringify(value)).toString("hex")}`;

describe("the host of a window", () => {
  const cases: readonly (readonly [name: string, window: EditorWindow, own: string | undefined, local: boolean])[] = [
    ["a local window on Linux", { kind: "ui", platform: "linux" }, undefined, true],
    ["a local window on macOS", { kind: "ui", platform: "darwin" }, undefined, false],
    ["a local window on Windows", { kind: "ui", platform: "win32" }, undefined, false],
    [
      "Remote-SSH, by an alias",
      { kind: "ui", remoteName: "ssh-remote", authority: "ssh-remote+gpu8", platform: "darwin" },
      "gpu8",
      false,
    ],
    [
      "Remote-SSH, from Linux",
      { kind: "ui", remoteName: "ssh-remote", authority: "ssh-remote+gpu8", platform: "linux" },
      "gpu8",
      false,
    ],
    [
      "Remote-SSH, user and port",
      { kind: "ui", remoteName: "ssh-remote", authority: "ssh-remote+me@gpu8:2222", platform: "win32" },
      "me@gpu8:2222",
      false,
    ],
    [
      "Remote-SSH, percent-encoded",
      { kind: "ui", remoteName: "ssh-remote", authority: "ssh-remote+me%40gpu8", platform: "win32" },
      "me@gpu8",
      false,
    ],
    [
      "Remote-SSH, a name with capitals",
      {
        kind: "ui",
        remoteName: "ssh-remote",
        authority: hex({ hostName: "GPU8", user: "me", port: 2222 }),
        platform: "linux",
      },
      "me@GPU8:2222",
      false,
    ],
    [
      "Remote-SSH, installed on the host",
      { kind: "workspace", remoteName: "ssh-remote", authority: "ssh-remote+gpu8", platform: "linux" },
      "local",
      true,
    ],
    [
      "WSL, beside the folder",
      { kind: "workspace", remoteName: "wsl", authority: "wsl+ubuntu", platform: "linux" },
      "local",
      true,
    ],
    [
      "WSL, on the Windows side",
      { kind: "ui", remoteName: "wsl", authority: "wsl+ubuntu", platform: "win32" },
      undefined,
      false,
    ],
    [
      "a container, beside the folder",
      { kind: "workspace", remoteName: "dev-container", platform: "linux" },
      "local",
      true,
    ],
    [
      "a container, on this side",
      { kind: "ui", remoteName: "dev-container", authority: "dev-container+7b7d", platform: "linux" },
      undefined,
      false,
    ],
    ["Codespaces", { kind: "workspace", remoteName: "codespaces", platform: "linux" }, "local", true],
    ["a tunnel to a Mac", { kind: "workspace", remoteName: "tunnel", platform: "darwin" }, undefined, false],
    ["the browser", { kind: "web", platform: "web" }, undefined, false],
  ];
  for (const [name, window, own, local] of cases) {
    it(`is ${own ?? "none"}${local ? ", and local can be watched" : ""}: ${name}`, () => {
      const hosts = windowHosts(window);
      assert.equal(hosts.own, own);
      assert.equal(hosts.local, local);
    });
  }

  it("is none where the authority is no name of a host", () => {
    const ugly = [
      "",
      "ssh-remote",
      "ssh-remote+",
      "ssh-remote+-oProxyCommand=x",
      "ssh-remote+a b",
      "ssh-remote+%",
      "ssh-remote+$(x)",
      "ssh-remote+7b7b",
      hex({}),
      hex({ hostName: 1 }),
      hex({ hostName: "-x" }),
      `ssh-remote+${"a".repeat(300)}`,
      "wsl+gpu8",
    ];
    for (const authority of ugly)
      assert.equal(
        windowHosts({ kind: "ui", remoteName: "ssh-remote", authority, platform: "linux" }).own,
        undefined,
        authority,
      );
  });

  it("can always be written into a session file", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z0-9@:.[\]-]{1,20}$/)), (name) => {
        const { own } = windowHosts({
          kind: "ui",
          remoteName: "ssh-remote",
          authority: `ssh-remote+${name}`,
          platform: "linux",
        });
        if (own !== undefined) parseHostAddress(own);
      }),
    );
  });
});
