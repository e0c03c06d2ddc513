import dpmpp2mSde from './dpmpp-2m-sde.ts'

/** The same solver; its noise is drawn on the CPU under either name, so that it is the same everywhere. */
export default { ...dpmpp2mSde, name: 'dpmpp_2m_sde_gpu' }
