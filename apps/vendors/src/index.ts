export { startVendors, type Vendors, type VendorsOptions } from './start-vendors.js';
