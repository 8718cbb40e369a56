/** Path of the relay's operation by which a server joins, and rotates its key (docs/protocol.md#remotesserverregister). */
export const serverRegisterPath = '/api/v1/remotes/server/register';

/** Path of the relay's operation to which a server reports its realms (docs/protocol.md#remotesserveranalytics). */
export const serverAnalyticsPath = '/api/v1/remotes/server/analytics';

/** Path of the relay's operation by which a server leaves (docs/protocol.md#remotesserverdeactivate). */
export const serverDeactivatePath = '/api/v1/remotes/server/deactivate';

/** Path of the relay's operation that begins the transfer of a server (docs/protocol.md#remotesserverregistertransfer). */
export const serverTransferPath = `${serverRegisterPath}/transfer`;

/** Path of the relay's operation that ends the transfer of a server. */
export const serverVerifyPath = `${serverRegisterPath}/verify_challenge`;

/** Path under which a server shows a relay's secret; the token and a slash follow. */
export const hostVerificationPath = '/api/v1/zulip-services/verify';
