/** The bundler makes a style sheet the text that a `CSSStyleSheet` takes. */
declare module '*.css' {
  export const css: string;
}
