const { join } = require('node:path');
const { withAndroidPush } = require('./android.cjs');
const { withIosPush } = require('./ios.cjs');

/**
 * Expo config plugin: `"@waxwing/client"` in `plugins` of the app's configuration. `expo prebuild` then adds the
 * notification service extension, the messaging service, and the data that they share with the app.
 *
 * - `developmentTeam`: Apple's id of the team that signs the extension; default `ios.appleTeamId`. If neither is set,
 *   choose the team in Xcode.
 * - `sources`: a folder in the app with changed copies of this package's `native` folder.
 *
 * @throws Error if a platform of the app has no bundle identifier or package name.
 */
module.exports = function withWaxwing(config, { developmentTeam = config.ios?.appleTeamId, sources } = {}) {
  const platforms = config.platforms ?? ['ios', 'android'];
  const folderOf = (projectRoot, platform) =>
    sources === undefined ? join(__dirname, '../native', platform) : join(projectRoot, sources, platform);
  const withIos = platforms.includes('ios') ? withIosPush(config, { developmentTeam, folderOf }) : config;
  return platforms.includes('android') ? withAndroidPush(withIos, { folderOf }) : withIos;
};
