/**
 * What the data plane tells the control plane of a method that is sent on as another one (forward.ts), for
 * its log and nothing else. A caller's own header of this name is not passed on.
 */
export const SENT_METHOD = 'x-sent-method';
