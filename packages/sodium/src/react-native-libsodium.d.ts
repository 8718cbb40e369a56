// The optional peer has types of its own only where it is installed; its API is that of libsodium-wrappers.
declare module 'react-native-libsodium' {
  const libsodium: import('./wrap-libsodium.js').Libsodium & { readonly ready: Promise<void> };
  export default libsodium;
}
