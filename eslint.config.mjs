import js from "@eslint/js";
import tseslint from "typescript-eslint";

/** Limits that stop only extremes. */
const limits = {
  "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
  "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
  "max-depth": ["error", 3],
  "max-params": ["error", 4],
  // A complete switch over a union is one decision.
  complexity: ["error", { max: 14, variant: "modified" }],
};

export default tseslint.config(
  { ignores: ["dist/", "out/", "node_modules/", ".vscode-test/", "test/fixtures/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ["./tsconfig.json", "./src/webview/tsconfig.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      // Numbers read well in messages; everything else must be made text on purpose.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `const { gone, ...rest } = x` is how a readonly object loses a member.
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      eqeqeq: "error",
    },
  },
  { files: ["src/**/*.ts"], rules: limits },
  {
    files: ["src/core/**/*.ts"],
    rules: {
      "no-restricted-globals": [
        "error",
        "process",
        "Buffer",
        "setTimeout",
        "setInterval",
        "window",
        "document",
        "console",
      ],
      "no-restricted-properties": [
        "error",
        { object: "Date", property: "now", message: "Time comes from the injected Clock." },
      ],
    },
  },
  {
    // node:test returns promises that the runner itself waits for.
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-floating-promises": [
        "error",
        {
          allowForKnownSafeCalls: [
            { from: "package", name: ["test", "it", "describe", "suite"], package: "node:test" },
          ],
        },
      ],
    },
  },
  {
    files: ["**/*.mjs", "**/*.cjs"],
    languageOptions: {
      globals: {
        console: "readonly",
        process: "readonly",
        Buffer: "readonly",
        URL: "readonly",
        setTimeout: "readonly",
        clearTimeout: "readonly",
        setInterval: "readonly",
        clearInterval: "readonly",
        performance: "readonly",
        fetch: "readonly",
        module: "writable",
        require: "readonly",
        AbortController: "readonly",
        AbortSignal: "readonly",
        TextDecoder: "readonly",
        TextEncoder: "readonly",
      },
    },
  },
);
