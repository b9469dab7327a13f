/** The version of this command; one for the whole product. */
export const CLI_VERSION = '0.1.0';
