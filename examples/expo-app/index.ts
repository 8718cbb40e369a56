import { registerRootComponent } from 'expo';
// Before the app: iOS starts the bundle for a removal without showing the app.
import './src/push/removals';
import { App } from './src/App';

registerRootComponent(App);
