/** Appends a text to the file of a mod, unless an earlier prebuild has already appended it. */
exports.appendText = function appendText(mod, text) {
  if (!mod.modResults.contents.includes(text)) mod.modResults.contents += text;
  return mod;
};
