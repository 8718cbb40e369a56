// The types of this optional peer dependency are available only if it is installed. It has the same API as
// libsodium-wrappers.
declare module 'react-native-libsodium' {
  const libsodium: import('./wrap-libsodium.js').Libsodium & { readonly ready: Promise<void> };
  export default libsodium;
}
