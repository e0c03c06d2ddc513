/** How the length of steps follows from their errors: the weights of a PID controller. */
export interface StepSizeOptions {
  /** The length of the first step in ln σ. */
  readonly firstLength?: number
  readonly proportional?: number
  readonly integral?: number
  readonly derivative?: number
  /** A step is accepted when the next one would be at least this many times as long. */
  readonly acceptFrom?: number
}

/** The length of the steps of a run. */
export interface StepSize {
  /** What the next step should have. */
  length(): number
  /** Whether a step of that length with this error (1 is just tolerable) is good enough; changes the length. */
  accepts(error: number): boolean
}

/** Lengths by a PID controller over the last three errors (Söderlind 2003) for a method of this order. */
export function createStepSize(options: StepSizeOptions, order: number): StepSize {
  const { firstLength = 0.05, proportional = 0, integral = 1, derivative = 0, acceptFrom = 0.81 } = options
  const powers = [proportional + integral + derivative, -(proportional + 2 * derivative), derivative] as const
  let length = firstLength
  let accepted: readonly [number, number] | undefined
  return {
    length: () => length,
    accepts(error) {
      const accuracy = 1 / (error + 1e-8)
      const [last, first] = accepted ?? [accuracy, accuracy]
      const product = accuracy ** powers[0] * last ** powers[1] * first ** powers[2]
      const factor = 1 + Math.atan(product ** (1 / order) - 1)
      const good = factor >= acceptFrom
      if (good) accepted = [accuracy, last]
      else accepted ??= [last, first]
      length *= factor
      return good
    },
  }
}
