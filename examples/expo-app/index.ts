import { registerRootComponent } from 'expo';
// Imported before the app: for a removal, iOS runs this bundle in the background without showing the app.
import './src/push/removals';
import { App } from './src/App';

registerRootComponent(App);
