/** Pattern for the name of a Web Push app in the apps file. */
export const webPushAppName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
