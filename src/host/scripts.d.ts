/** The host scripts are shell files, bundled as text by esbuild's text loader. */
declare module "*.sh" {
  const text: string;
  export default text;
}
