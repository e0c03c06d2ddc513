/** The version of the HTTP interface, which is not that of this program. */
export const API_VERSION = '1.16.1'
