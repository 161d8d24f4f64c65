// Files that Vite puts into the page as data addresses.
declare module "*.gz?inline" {
    const address: string;
    export default address;
}
