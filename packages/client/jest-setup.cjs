/**
 * For Jest: `"setupFiles": ["@waxwing/client/jest-setup"]`. Jest cannot `require` ECMAScript modules, and has no native
 * code of React Native. Tests get the same client as one CommonJS file, on libsodium in WebAssembly.
 */
jest.mock('@waxwing/client', () => jest.requireActual('./dist/jest/index.cjs'));
jest.mock('@waxwing/client/open', () => jest.requireActual('./dist/jest/open.cjs'));
