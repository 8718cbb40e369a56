export { runCommandLine as runServerCommand } from './command-line.js';
export { createServer, type Server, type ServerOptions } from './create-server.js';
export { serverApi, serverOperations } from './operations.js';
export { readServerEnvironment, type ServerConfiguration } from './server-configuration.js';
export { type RunningServer, startServer } from './start-server.js';
export { addUser, type ProvisionedUser } from './users/manage-users.js';
export { type Role, roles } from './users/roles.js';
