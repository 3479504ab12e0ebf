export { notifyChange } from '../../infra/store/notify-change.ts';
