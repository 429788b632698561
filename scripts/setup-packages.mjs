// Makes sure of Debian packages from the command line:  node scripts/setup-packages.mjs shellcheck
import { ensurePackages } from "./setup.mjs";

await ensurePackages(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
