// The types of this optional peer dependency exist only where it is installed. Its API is that of libsodium-wrappers.
declare module 'react-native-libsodium' {
  const libsodium: import('./wrap-libsodium.js').Libsodium & { readonly ready: Promise<void> };
  export default libsodium;
}
