/**
 * The header with which the data plane reports the method of a request that is sent on with another one
 * (forward.ts), for the control plane's log and nothing else. A caller's own header of this name is not
 * passed on.
 */
export const SENT_METHOD = 'x-sent-method';
