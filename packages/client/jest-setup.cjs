/**
 * For Jest: `"setupFiles": ["@waxwing/client/jest-setup"]`. Jest cannot `require` ECMAScript modules, and has no native
 * code of React Native. Tests get the same client as one CommonJS file, on libsodium in WebAssembly.
 */
const { TextDecoder, TextEncoder } = require('node:util');

// jsdom lacks both. An array of Node's own encoder would not be an `Uint8Array` of the test's realm.
globalThis.TextDecoder ??= TextDecoder;
globalThis.TextEncoder ??= class {
  encode(text) {
    return Uint8Array.from(new TextEncoder().encode(text));
  }
};

jest.mock('@waxwing/client', () => jest.requireActual('./dist/jest/index.cjs'));
jest.mock('@waxwing/client/open', () => jest.requireActual('./dist/jest/open.cjs'));
jest.mock('@waxwing/client/service-worker', () => jest.requireActual('./dist/jest/service-worker.cjs'));
