export { runCommandLine as runServerCommand } from './command-line.js';
export { readServerEnvironment, type ServerConfiguration } from './configuration.js';
export { createServer, type Server, type ServerOverrides } from './create-server.js';
export { serverApi, serverOperations } from './operations.js';
export { startServer } from './start-server.js';
export { addUser, type ProvisionedUser } from './user-administration/manage-users.js';
export { type Role, roles } from './users/roles.js';
