const { join } = require('node:path');
const { withAndroidPush } = require('./android.cjs');
const { withIosPush } = require('./ios.cjs');

/**
 * Expo config plugin, enabled by `"@waxwing/client"` in the app config's `plugins`. `expo prebuild` then adds the
 * notification service extension (iOS) and the messaging service (Android), and lets them share data with the app.
 *
 * - `developmentTeam`: id of the Apple team that signs the extension; default `ios.appleTeamId`. If neither is set,
 *   choose the team in Xcode.
 * - `sources`: a folder in the app with a modified copy of this package's `native` folder.
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
