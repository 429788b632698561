import { execFile } from "node:child_process";

/** Whether the user holds a Kerberos ticket that has not run out: `klist -s` says it by its exit code alone. */
export function hasKerberosTicket(env: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("klist", ["-s"], { env: { ...env }, timeout: 5000, windowsHide: true }, (error) => {
      resolve(error === null);
    });
  });
}
