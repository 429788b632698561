import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { makeTestHost, shells, type TestHost } from "./hostHarness";
import { makeLocal } from "./localHost";

for (const { name, path } of shells) behaviour(name, path);

/** Where a program is, and which shells look there. */
function behaviour(name: string, shell: string): void {
  describe(`searching for a program under ${name}`, () => {
    let host: TestHost;
    before(async () => {
      host = await makeTestHost(shell, makeLocal());
    });
    after(() => {
      host.dispose();
    });
    const program = (at: string): string => {
      mkdirSync(join(at, ".."), { recursive: true });
      writeFileSync(at, "#!/bin/sh\necho usage\n");
      chmodSync(at, 0o755);
      return at;
    };

    it("tells the shells apart, and names the line that adds the folder", async () => {
      const login = program(join(host.home, "login env", "bin", "odd-tool"));
      const interactive = program(join(host.home, "tools", "odd-tool"));
      writeFileSync(join(login, "..", "activate"), "");
      writeFileSync(
        join(host.home, ".bash_profile"),
        'echo welcome\n# $HOME/login env/bin\nexport PATH="${HOME}/login env/bin:$PATH"\n',
      );
      writeFileSync(join(host.home, ".bashrc"), "case $- in *i*) ;; *) return ;; esac\nPATH=~/tools:$PATH\n");
      const places = await host.ops.findProgram({ names: ["odd-tool"], cwd: host.work, withSetup: true });
      const of = (kind: string): string | undefined => {
        const found = places.shells.find((one) => one.kind === kind);
        assert.ok(found && !found.late, kind);
        return found.found;
      };
      assert.equal(places.loginShell, "/bin/bash");
      assert.equal(of("ssh"), undefined);
      assert.equal(of("login"), login);
      assert.equal(of("interactive"), interactive);
      assert.deepEqual(
        new Set(places.tools.map(({ path, works }) => `${String(works)} ${path}`)),
        new Set([`true ${login}`, `true ${interactive}`]),
      );
      assert.deepEqual(
        new Set(places.startup.map(({ file, line, folder }) => `${file}:${line} ${folder}`)),
        new Set([
          `${join(host.home, ".bash_profile")}:3 ${join(login, "..")}`,
          `${join(host.home, ".bashrc")}:2 ${join(interactive, "..")}`,
        ]),
      );
      assert.deepEqual(places.activated, [join(login, "..")]);
    });

    it("does not wait for a start-up file that waits", async () => {
      const slow = await makeTestHost(shell, makeLocal());
      try {
        writeFileSync(join(slow.home, ".bashrc"), "case $- in *i*) sleep 1000 ;; esac\n");
        const places = await slow.ops.findProgram({ names: ["odd-tool"], cwd: slow.work, withSetup: true });
        const late = places.shells.filter((one) => one.late).map(({ kind }) => kind);
        assert.deepEqual(late, ["interactive"]);
      } finally {
        slow.dispose();
        makeLocal()({ home: host.home, bin: join(host.home, "..", "bin") }).dispose();
      }
    });

    it("runs nothing of the session file that was not approved", async () => {
      const mark = join(host.work, "ran");
      const ops = await host.connect({ setup: [`touch '${mark}'`] });
      const places = await ops.findProgram({ names: ["surely-missing"], withSetup: false });
      assert.deepEqual(places.tools, []);
      assert.equal(existsSync(mark), false);
    });
  });
}
