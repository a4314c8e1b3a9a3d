// Makes a clone ready to run: packages, build and, with --browser, a Chromium. Silent when nothing is to do.
// Old syntax only: this file must load on the Node versions that it refuses.
import process from "node:process";

const version = process.versions.node.split(".").map(Number);
const major = version[0];
const minor = version[1];
// The build tools run on these only, and npm refuses the others with less clear words.
const supported = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 23;

if (supported) {
  import("./ensure/main.mjs")
    .then((module) => module.main(process.argv.slice(2)))
    .then((code) => {
      process.exitCode = code;
    });
} else {
  process.stderr.write(
    "connecta needs Node 20.19, 22.12 or newer; this is Node " + process.versions.node + ".\n",
  );
  process.exitCode = 1;
}
