// Builds the page into the package: one script, one style sheet, one shell, under fixed names.
import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: process.env["OUT"] ?? "../src/lawful/review/static",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    rollupOptions: {
      output: {
        entryFileNames: "review.js",
        assetFileNames: "review.[ext]",
        codeSplitting: false,
      },
    },
  },
});
