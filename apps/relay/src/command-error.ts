export { CommandError } from '@waxwing/service';
