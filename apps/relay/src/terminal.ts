export { processTerminal, requireConsent, type Terminal } from '@waxwing/service';
