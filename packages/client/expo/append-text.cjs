/** Appends text to a mod's file unless an earlier prebuild has already done so. */
exports.appendText = function appendText(mod, text) {
  if (!mod.modResults.contents.includes(text)) mod.modResults.contents += text;
  return mod;
};
