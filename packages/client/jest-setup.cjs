/**
 * Jest setup file, enabled by `"setupFiles": ["@waxwing/client/jest-setup"]`. Jest cannot `require` ECMAScript modules,
 * and cannot run React Native's native code. Tests therefore get the client as CommonJS files that use libsodium in
 * WebAssembly.
 */
const { TextDecoder, TextEncoder } = require('node:util');

// jsdom lacks both classes. An array from Node's own encoder would not be an instance of the test realm's `Uint8Array`.
globalThis.TextDecoder ??= TextDecoder;
globalThis.TextEncoder ??= class {
  encode(text) {
    return Uint8Array.from(new TextEncoder().encode(text));
  }
};

jest.mock('@waxwing/client', () => jest.requireActual('./dist/jest/index.cjs'));
jest.mock('@waxwing/client/open', () => jest.requireActual('./dist/jest/open.cjs'));
jest.mock('@waxwing/client/service-worker', () => jest.requireActual('./dist/jest/service-worker.cjs'));
