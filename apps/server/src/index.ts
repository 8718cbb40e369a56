export { runServerCommand } from './command-line.js';
export { readServerEnvironment, type ServerConfiguration } from './configuration.js';
export { createServer, type Server, type ServerOverrides } from './create-server.js';
export { addUser, type ProvisionedUser } from './membership/user-administration/manage-users.js';
export { serverApi, serverOperations } from './operations.js';
export { type Role, roles } from './platform/authentication/roles.js';
export { startServer } from './start-server.js';
