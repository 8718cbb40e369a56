/**
 * Path of the relay's operation that registers a server and rotates its key (docs/protocol.md#remotesserverregister).
 */
export const serverRegisterPath = '/api/v1/remotes/server/register';

/** Path of the relay's operation that receives a server's list of realms (docs/protocol.md#remotesserveranalytics). */
export const serverAnalyticsPath = '/api/v1/remotes/server/analytics';

/** Path of the relay's operation that deactivates a server (docs/protocol.md#remotesserverdeactivate). */
export const serverDeactivatePath = '/api/v1/remotes/server/deactivate';

/**
 * Path of the relay's operation that starts the transfer of a server (docs/protocol.md#remotesserverregistertransfer).
 */
export const serverTransferPath = `${serverRegisterPath}/transfer`;

/** Path of the relay's operation that completes the transfer of a server. */
export const serverVerifyPath = `${serverRegisterPath}/verify_challenge`;

/** Path under which a server publishes the relay's verification secret. A slash and the token follow. */
export const hostVerificationPath = '/api/v1/zulip-services/verify';
