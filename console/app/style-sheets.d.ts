/** The bundler puts style sheets that are imported into one of its own. */
declare module '*.css';
