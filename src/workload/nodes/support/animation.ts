/** The longest time that file formats let a frame stay, in milliseconds. */
const MAX_DELAY = 65_535

/** How long a frame stays at so many a second, in whole milliseconds, cut off as the reference does. */
export const delayOf = (framesPerSecond: number): number => Math.min(MAX_DELAY, Math.trunc(1000 / framesPerSecond))
