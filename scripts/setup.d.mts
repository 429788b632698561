export declare function ensurePackages(names: readonly string[], log?: (line: string) => void): Promise<void>;
export declare function ensureChromium(log?: (line: string) => void): Promise<string>;
export declare function ensureDependencies(log?: (line: string) => void): Promise<void>;
