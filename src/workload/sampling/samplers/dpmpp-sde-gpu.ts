import dpmppSde from './dpmpp-sde.ts'

/** The same solver; its noise is drawn on the CPU under either name, so that it is the same everywhere. */
export default { ...dpmppSde, name: 'dpmpp_sde_gpu' }
