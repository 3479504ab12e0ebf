import type { Middleware } from 'koa';

/** A person who opens the address of the server gets the console; programs keep their 404 in JSON. */
export const redirectBrowsers: Middleware = (ctx, next) => {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (ctx.path !== '/' || !isRead) return next();
  ctx.vary('Accept');
  // Clients that take anything (`*/*`) are no browsers.
  if (!/\btext\/html\b/i.test(ctx.get('accept'))) return next();
  ctx.status = 302;
  ctx.set('Location', '/console');
  return undefined;
};
