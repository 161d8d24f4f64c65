import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";

// One page per call: `vite build --mode report` makes dist/report.html. Everything is inside the
// file, so it opens from a disk without a network.
export default defineConfig(({ mode }) => ({
    root: fileURLToPath(new URL(".", import.meta.url)),
    assetsInclude: ["**/*.gz"],
    plugins: [viteSingleFile({ removeViteModuleLoader: true })],
    build: {
        outDir: "dist",
        emptyOutDir: false,
        target: "es2022",
        rollupOptions: { input: `${mode}.html` },
    },
    test: {
        // By kind: those that need no more than Node; --mode wasm, the modules of scripts/wasm; and
        // --mode browser, Chromium and the program.
        include: [`tests/${["wasm", "browser"].includes(mode) ? `${mode}/` : ""}*.test.ts`],
        environment: "node",
        testTimeout: 600_000, // only for what hangs: no test measures time
        hookTimeout: 600_000,
    },
}));
