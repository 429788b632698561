declare module "*.wat" {
  /** The module in WebAssembly's binary form. */
  const code: Uint8Array<ArrayBuffer>;
  export default code;
}

/** The parts of it that are used here: no library of types without a DOM has them. */
declare namespace WebAssembly {
  const Module: new (code: Uint8Array<ArrayBuffer>) => Module;
  /** Its size is in pages of 64 kB. */
  const Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
  const Instance: new (
    module: Module,
    imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ) => { readonly exports: object };
}
