import dpmpp2mSdeHeun from './dpmpp-2m-sde-heun.ts'

/** The same solver; its noise is drawn on the CPU under either name, so that it is the same everywhere. */
export default { ...dpmpp2mSdeHeun, name: 'dpmpp_2m_sde_heun_gpu' }
