export * from './phone.js';
export * from './protocol-error.js';
export * from './push-device-parameters.js';
export * from './relay-key-list.js';
export * from './relay-notification.js';
export * from './relay-registration.js';
export * from './relay-removal.js';
export * from './wire-fields.js';
