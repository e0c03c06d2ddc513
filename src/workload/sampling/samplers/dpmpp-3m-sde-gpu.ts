import dpmpp3mSde from './dpmpp-3m-sde.ts'

/** The same solver; its noise is drawn on the CPU under either name, so that it is the same everywhere. */
export default { ...dpmpp3mSde, name: 'dpmpp_3m_sde_gpu' }
